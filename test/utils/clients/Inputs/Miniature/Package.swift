// swift-tools-version: 5.9
import PackageDescription

let package = Package(
  name: "Miniature",
  targets: [.target(name: "Miniature"), .testTarget(name: "MiniatureTests", dependencies: ["Miniature"])])
