// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "extra", products: [.library(name: "Extra", targets: ["Extra"])], traits: ["Whole"], targets: [.target(name: "Extra")])
