import HTTPTypes
public import NIOCore
public import NIOHTTP1

/// Gives answers of mounts the `Date` of their origin back. RFC 9110 §6.6.1: who passes a response on does not change
/// it; a client counts its age from it.
public final class OwnDateHandler: ChannelOutboundHandler, RemovableChannelHandler {
    /// Parts of responses.
    public typealias OutboundIn = HTTPServerResponsePart
    /// The same.
    public typealias OutboundOut = HTTPServerResponsePart

    private static let name = HTTPField.Name.ownDate.rawName

    /// Creates the handler of one connection.
    public init() {}

    /// Passes a part on.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), let date = head.headers.first(name: Self.name) else {
            return context.write(data, promise: promise)
        }
        head.headers.replaceOrAdd(name: "Date", value: date)
        head.headers.remove(name: Self.name)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
