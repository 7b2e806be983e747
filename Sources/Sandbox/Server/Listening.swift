import Glibc
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The port of a starting server. Any number of tasks can wait for it.
final class Listening: Sendable {
    private struct State {
        var outcome: Result<Int, SandboxError>?
        var waiters: [OneShotEvent] = []
    }

    private let state = Mutex(State())

    func succeed(port: Int) { settle(.success(port)) }

    /// Replaces a success by a failure, because the port is no longer open.
    func fail(_ error: SandboxError) { settle(.failure(error)) }

    private func settle(_ outcome: Result<Int, SandboxError>) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.fire() }
    }

    /// Whether the port is open now.
    var isListening: Bool {
        state.withLock { state in if case .success = state.outcome { true } else { false } }
    }

    var port: Int {
        get async throws {
            let settled = OneShotEvent()
            state.withLock { state in
                if state.outcome == nil { state.waiters.append(settled) } else { settled.fire() }
            }
            try await settled.wait()
            return try state.withLock { $0.outcome ?? .failure(.stopped) }.get()
        }
    }
}

/// A port of 127.0.0.1 that is reserved but not listened at, so that the kernel refuses each connection.
final class RefusingPort: Sendable {
    let number: Int
    private let descriptor: CInt

    /// - Throws: `IOError`.
    init() throws {
        let made = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard made >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(made, address, length) == 0 ? getsockname(made, address, &length) : -1
            }
        }
        guard result == 0 else {
            let code = errno
            close(made)
            throw IOError(errnoCode: code, reason: "bind")
        }
        (descriptor, number) = (made, Int(in_port_t(bigEndian: address.sin_port)))
    }

    deinit { close(descriptor) }
}

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

/// Closes a connection whose client has closed its side. Hummingbird keeps half-closed connections open until their
/// response is written, but a client that has disconnected must not count as waiting.
final class HalfCloseHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
