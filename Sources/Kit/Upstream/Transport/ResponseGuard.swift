import NIOCore
import NIOHTTP1

/// Checks the parts of responses between the HTTP decoder and async-http-client on every connection: passes on what
/// ``ResponseSequence`` permits, and closes the connection with a ``ResponseSequence/Violation`` at anything else.
final class ResponseGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private var sequence = ResponseSequence()

    /// Adds a guard after the decoder of a channel. To be called on its event loop, before a request is written.
    ///
    /// - Throws: `ChannelPipelineError` if the channel has no decoder of responses.
    static func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.addHandler(ResponseGuard(), position: .after(decoder))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head = unwrapOutboundIn(data) { sequence.requestSent() }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch sequence.receive(ResponseSequence.Part(unwrapInboundIn(data))) {
        case .pass: context.fireChannelRead(data)
        case .drop: break
        case .refuse(let violation):
            context.fireErrorCaught(violation)
            context.close(promise: nil)
        }
    }
}

extension ResponseSequence.Part {
    init(_ part: HTTPClientResponsePart) {
        switch part {
        case .head(let head): self = .head(status: Int(head.status.code))
        case .body: self = .body
        case .end: self = .end
        }
    }
}
