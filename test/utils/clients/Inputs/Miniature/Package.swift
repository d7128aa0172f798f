// swift-tools-version: 5.9
import PackageDescription

let package = Package(
  name: "Miniature",
  targets: [.target(name: "Miniature"), .executableTarget(name: "tool"), .testTarget(name: "MiniatureTests", dependencies: ["Miniature"])])
