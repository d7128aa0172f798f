// swift-tools-version: 6.0
// The programs of the server benchmark. run-benchmark takes the dependencies from the workspace's sources.

import PackageDescription

let package = Package(
  name: "server",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.65.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.5.4"),
    .package(url: "https://github.com/apple/swift-async-algorithms.git", from: "1.0.1"),
  ],
  targets: [
    .executableTarget(
      name: "server",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
      ],
      swiftSettings: [.swiftLanguageMode(.v5)])
  ])
