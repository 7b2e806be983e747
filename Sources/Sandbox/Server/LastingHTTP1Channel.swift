import HummingbirdCore
import Logging
import NIOCore

/// Hummingbird's connections, each retained until it is closed. One that is accepted while the server stops gets no
/// handler, and NIO traps if a writer is released before its connection.
struct LastingHTTP1Channel: ServerChildChannel {
    private let base: HTTP1Channel

    init(_ base: HTTP1Channel) {
        self.base = base
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).map { value in
            channel.closeFuture.whenComplete { _ in withExtendedLifetime(value) {} }
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
