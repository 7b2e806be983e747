import Concurrency
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import TestKit
import Testing

@testable import Server

extension EmbeddedHTTP2 {
    /// A connection with a cache, into which the response to `/a` was recorded on its first stream.
    ///
    /// - Parameters:
    ///   - opened: by how much the client opens the window of the connection
    ///   - raw: bytes that the client sends in place of frames, of which the last is the request
    static func cached(
        _ text: String,
        status: HTTPResponseStatus = .ok,
        units: Int = EmbeddedConnection.manyUnits,
        window: Int = 65_535,
        opened: Int = 0,
        changeToken: ChangeToken = .unlimited,
        logger: Logger = .quiet,
        limits: ConnectionLimits = .standard,
        raw: [UInt8]? = nil
    ) throws -> EmbeddedHTTP2 {
        let cache = ResponseCache(budgetBytes: 4 << 20, run: "run", logger: logger)
        let connection = try EmbeddedHTTP2(limits, responseCache: cache, clientUnits: units, window: window, raw: raw)
        if opened > 0 { connection.send(.rootStream, .windowUpdate(windowSizeIncrement: opened)) }
        let stream = raw == nil ? connection.request("/a") : 1
        let labels = RequestLabels(method: .get, route: "/", status: 200)
        let measurements = RequestMeasurements(labels)
        connection.streams[0].annotations.update {
            $0.changeToken = changeToken
            $0.record = RequestRecord(method: .get, path: "/", status: Int(status.code), measurements: measurements)
        }
        let fields: HTTPHeaders = ["X-Request-Id": "first", "ETag": "\"a:b\""]
        let length: HTTPHeaders = text.isEmpty ? [:] : ["Content-Length": "\(text.utf8.count)"]
        let application = connection.streams[0].application
        application.begin(status: status, headers: length + fields)
        if !text.isEmpty { application.write(text) }
        application.end()
        if raw == nil, window >= text.utf8.count { #expect(connection.response(on: stream).isEnded) }
        #expect(cache.size.entries == 1)
        return connection
    }
}

extension HTTPHeaders {
    fileprivate static func + (a: HTTPHeaders, b: HTTPHeaders) -> HTTPHeaders {
        HTTPHeaders(a.map { ($0.name, $0.value) } + b.map { ($0.name, $0.value) })
    }
}

/// Counts the header blocks that NIO decodes.
final class HeaderBlockCounter: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    private(set) var count = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .headers = Self.unwrapInboundIn(data).payload { count += 1 }
        context.fireChannelRead(data)
    }
}
