import NIOCore
package import NIOSSL
import NIOTLS

/// The beginning of a connection on a port for TLS. It checks the first byte and limits the time of the handshake. It
/// is the first handler until the handshake has ended, and is then removed.
///
/// Nothing of TLS is set up before the client has sent something, and a handshake waits for a slot of its client.
final class TLSEntryHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// The protocol that the first bytes of a connection select.
    enum Outcome {
        case clearText
        /// The handshake has ended; the protocol that ALPN has chosen.
        case tls(protocol: String?)
        case failed(AbruptClose?)
    }

    private let limits: ConnectionLimits
    private let makeContext: () -> NIOSSLContext
    private let share: SchedulerShare
    private let onOutcome: (Outcome) throws -> Void

    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    /// Bytes that arrived before the client had a slot.
    private var waiting: ByteBuffer?
    private var isReadHeld = false
    private var isBegun = false
    private var isEnded = false

    /// - Parameter onOutcome: is called once, on the event loop; adds the handlers of HTTP
    init(
        limits: ConnectionLimits,
        share: SchedulerShare,
        makeContext: @escaping () -> NIOSSLContext,
        onOutcome: @escaping (Outcome) throws -> Void
    ) {
        self.limits = limits
        self.share = share
        self.makeContext = makeContext
        self.onOutcome = onOutcome
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        arm(limits.idleTimeout, .idle, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.failed(nil))
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failed(isBegun ? .handshake : nil))
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        guard !isBegun else { return context.fireChannelRead(data) }
        if waiting != nil {
            waiting?.writeBuffer(&bytes)
        } else if share.begins(.handshake, now: context.eventLoop.now, otherwise: { self.resume() }) {
            begin(bytes, context)
        } else {
            waiting = bytes
        }
    }

    func read(context: ChannelHandlerContext) {
        if waiting == nil { context.read() } else { isReadHeld = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A server that stops waits for no handshake, nor does one whose client has left.
        if event is ChannelShouldQuiesceEvent {
            context.close(promise: nil)
        } else if !isBegun, case ChannelEvent.inputClosed = event {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func resume() {
        guard let context, let bytes = waiting, !isEnded else { return }
        waiting = nil
        // The slot is that of this handshake.
        _ = share.begins(.handshake, now: context.eventLoop.now, otherwise: {})
        begin(bytes, context, isAlone: true)
        // This handler may have been removed.
        if isReadHeld { context.channel.read() }
    }

    /// A method of HTTP begins with a letter, a handshake never does (RFC 8446 §5.1).
    ///
    /// - Parameter isAlone: Whether the end of the read has passed already.
    private func begin(_ bytes: ByteBuffer, _ context: ChannelHandlerContext, isAlone: Bool = false) {
        isBegun = true
        do {
            if bytes.readableBytesView.first.map({ (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }) ?? false
            {
                end(.clearText)
            } else {
                arm(limits.headDeadline, .handshake, context)
                try context.pipeline.syncOperations.addHandlers(
                    [NIOSSLServerHandler(context: makeContext()), TLSCompletionHandler { self.handshakeEnded($0) }],
                    position: .after(self)
                )
            }
            context.fireChannelRead(Self.wrapInboundOut(bytes))
            if isAlone { context.fireChannelReadComplete() }
        } catch {
            end(.failed(.handshake))
            context.close(promise: nil)
        }
        if isEnded { context.pipeline.syncOperations.removeHandler(self, promise: nil) }
    }

    private func handshakeEnded(_ outcome: Outcome) {
        end(outcome)
        if case .tls = outcome { context?.pipeline.syncOperations.removeHandler(self, promise: nil) }
    }

    private func end(_ outcome: Outcome) {
        guard !isEnded else { return }
        isEnded = true
        timer?.cancel()
        timer = nil
        do {
            try onOutcome(outcome)
        } catch {
            context?.close(promise: nil)
        }
    }

    private func arm(_ time: Duration, _ reason: AbruptClose, _ context: ChannelHandlerContext) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            self.end(.failed(reason))
            // Ahead of TLS, which would wait for the client.
            context.close(promise: nil)
        }
    }
}

/// Notices the end of a handshake, and keeps its failure to itself: the connection is closed then.
final class TLSCompletionHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let onEnd: (TLSEntryHandler.Outcome) -> Void

    /// - Parameter onEnd: adds the handlers after this one, which is then removed
    init(onEnd: @escaping (TLSEntryHandler.Outcome) -> Void) {
        self.onEnd = onEnd
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted(let chosen) = event else {
            return context.fireUserInboundEventTriggered(event)
        }
        onEnd(.tls(protocol: chosen))
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        onEnd(.failed(.handshake))
    }
}

/// Options of a server that speaks TLS.
package struct TLSOptions: Sendable {
    /// Returns the context for the handshake of a new connection.
    let context: @Sendable () -> NIOSSLContext
    /// The hosts to which a request in clear text is redirected.
    let hosts: HostRules

    /// - Parameters:
    ///   - context: Is called for each connection, on its event loop.
    ///   - hosts: The hosts that are served.
    package init(context: @escaping @Sendable () -> NIOSSLContext, hosts: HostRules) {
        self.context = context
        self.hosts = hosts
    }
}
