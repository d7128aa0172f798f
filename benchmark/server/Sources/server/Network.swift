// HTTP/1.1 and an echo over TCP, on asynchronous channels.

import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

private typealias RequestPart = HTTPServerRequestPart
private typealias ResponsePart = HTTPPart<HTTPResponseHead, ByteBuffer>

/// The HTTP handlers want IOData, which is not sendable.
private final class WrapBody: ChannelOutboundHandler {
  typealias OutboundIn = HTTPPart<HTTPResponseHead, ByteBuffer>
  typealias OutboundOut = HTTPServerResponsePart

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part: HTTPServerResponsePart
    switch unwrapOutboundIn(data) {
    case .head(let head): part = .head(head)
    case .body(let body): part = .body(.byteBuffer(body))
    case .end(let trailers): part = .end(trailers)
    }
    context.write(wrapOutboundOut(part), promise: promise)
  }
}

private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

private func say(_ channel: Channel) {
  print("ready", channel.localAddress!.port!)
  fflush(stdout)
}

private func bootstrap() -> ServerBootstrap {
  ServerBootstrap(group: group)
    .serverChannelOption(ChannelOptions.backlog, value: 256)
    .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
    .childChannelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
}

/// Answers until the process is ended.
func serveHTTP(_ parts: Parts, port: Int) async throws {
  let server = try await bootstrap()
    .bind(host: "127.0.0.1", port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
        try channel.pipeline.syncOperations.addHandler(WrapBody())
        return try NIOAsyncChannel<RequestPart, ResponsePart>(wrappingChannelSynchronously: channel)
      }
    }
  say(server.channel)
  try await server.executeThenClose { connections in
    try await withThrowingDiscardingTaskGroup { tasks in
      for try await connection in connections {
        tasks.addTask {
          // A client that goes away is no fault of the server.
          try? await connection.executeThenClose { requests, responses in
            var number = 0
            for try await part in requests {
              guard case .head(let head) = part else { continue }
              number &+= 1
              let body = try await answer(number, parts)
              var headers = HTTPHeaders()
              headers.add(name: "content-type", value: "application/json")
              headers.add(name: "content-length", value: String(body.count))
              try await responses.write(
                contentsOf: [
                  .head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)),
                  .body(ByteBuffer(bytes: body)), .end(nil),
                ])
              if !head.isKeepAlive { break }
            }
          }
        }
      }
    }
  }
}

/// Sends back what comes, until the process is ended.
func serveEcho(port: Int) async throws {
  let server = try await bootstrap()
    .bind(host: "127.0.0.1", port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
      }
    }
  say(server.channel)
  try await server.executeThenClose { connections in
    try await withThrowingDiscardingTaskGroup { tasks in
      for try await connection in connections {
        tasks.addTask {
          try? await connection.executeThenClose { bytes, out in
            for try await buffer in bytes { try await out.write(buffer) }
          }
        }
      }
    }
  }
}
