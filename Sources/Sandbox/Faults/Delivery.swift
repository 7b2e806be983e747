import NIOCore

/// How the body of a response is sent.
struct Delivery: Sendable, Equatable {
    enum End: Sendable, Equatable {
        case whole
        /// The connection is reset before the head.
        case nothing
        /// The connection is closed in the middle of the body.
        case half
        /// The rest waits for its release; a body that is not longer is sent whole.
        case pause(after: Int)
        /// The connection is reset, at the end of the body at the latest.
        case reset(after: Int)
    }

    struct Slice: Sendable, Equatable {
        let bytes: Int
        /// Between two slices.
        let pause: Duration
    }

    var end = End.whole
    var bytesPerMillisecond: Int?
    var slice: Slice?
    /// Time between the last byte and the end of the connection; nil to keep the connection open.
    var closeDelay: Duration?

    /// Whether nothing about it is unusual.
    var isPlain: Bool { self == Delivery() }

    /// Whether not even a head is sent for a body of that length. Without a body there is nothing to cut off.
    func isSilent(of length: Int?) -> Bool { end == .nothing || end == .half && length == 0 }

    /// Returns the steps for a body of that length, in order.
    func steps(of length: Int) -> DeliverySteps { DeliverySteps(self, length: length) }

    /// Returns how many bytes of such a body are sent.
    func sentBytes(of length: Int) -> Int {
        switch end {
        case .whole, .pause: length
        case .nothing: 0
        case .half: length / 2
        case .reset(let bytes): min(bytes, length)
        }
    }
}

/// One step of sending a body.
enum DeliveryStep: Equatable {
    case send(Range<Int>)
    case wait(Duration)
    /// Until it is released.
    case hold
    /// The connection ends in an orderly way before the body.
    case cut
    case reset
    /// The connection ends after the body.
    case close
}

/// The steps of a delivery, made one by one since a long body has millions.
struct DeliverySteps: Sequence, IteratorProtocol {
    /// Milliseconds for which a limited bandwidth is sent at once.
    private static let portion = 100

    private let delivery: Delivery
    private let length: Int
    private var position = 0
    private var pending: [DeliveryStep] = []
    /// Position where sending stops; then `last` follows.
    private var stop: Int
    private var last: [DeliveryStep]

    init(_ delivery: Delivery, length: Int) {
        self.delivery = delivery
        self.length = length
        stop = delivery.sentBytes(of: length)
        last = delivery.closeDelay.map { [.wait($0), .close] } ?? []
        switch delivery.end {
        case .whole: break
        case .half: last = [.cut]
        case .nothing, .reset: last = [.reset]
        case .pause(let bytes): stop = Swift.min(bytes, length)
        }
    }

    mutating func next() -> DeliveryStep? {
        if pending.isEmpty, position < stop { appendPiece() }
        if !pending.isEmpty { return pending.removeFirst() }
        if stop < length, case .pause = delivery.end {
            stop = length
            return .hold
        }
        return last.isEmpty ? nil : last.removeFirst()
    }

    /// Returns the steps after the end of the body, whatever length was assumed.
    mutating func end() -> [DeliveryStep] {
        defer { last = [] }
        return last
    }

    /// Adds the next piece, after the time that it takes.
    private mutating func appendPiece() {
        var end = stop
        var pause = Duration.zero
        if let slice = delivery.slice {
            end = Swift.min(end, position - position % slice.bytes + slice.bytes)
            if position > 0, position.isMultiple(of: slice.bytes) { pause += slice.pause }
        }
        if let rate = delivery.bytesPerMillisecond {
            end = Swift.min(end, position + rate * Self.portion)
            pause += .microseconds((end - position) * 1_000 / rate)
        }
        if pause > .zero { pending.append(.wait(pause)) }
        pending.append(.send(position..<end))
        position = end
    }
}

/// The connection was closed on purpose; Hummingbird writes no response.
struct ConnectionReset: Error {}

/// A response was cut off on purpose.
struct ResponseTruncated: Error {}

/// `struct linger` of socket(7), which no Swift module exports under member import visibility: on, for 0 seconds.
private struct Linger: Sendable {
    let isOn: CInt = 1
    let seconds: CInt = 0
}

extension Channel {
    /// Closes the connection with a reset: with `SO_LINGER` 0 the kernel sends RST instead of FIN, as from a host that
    /// knows no such connection.
    /// - Returns: The error to throw, so that the caller sends no response.
    func reset() async -> any Error {
        // A stream of HTTP/2 ends with its connection.
        let connection = parent?.parent == nil ? self : parent ?? self
        do {
            try await (connection as? any SocketOptionProvider)?.unsafeSetSocketOption(
                level: .socket,
                name: .so_linger,
                value: Linger()
            ).get()
            try await connection.close().get()
        } catch {
            // The client has closed the connection already, which has the same effect.
            return error
        }
        return ConnectionReset()
    }
}
