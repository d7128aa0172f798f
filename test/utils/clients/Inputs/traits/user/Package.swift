// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "user",
  dependencies: [.package(url: "https://example.invalid/extra.git", from: "1.0.0", traits: ["Whole"])],
  targets: [.testTarget(name: "UserTests", dependencies: [.product(name: "Extra", package: "extra")])])
