/// The window of a connection (RFC 9113 §5.2), divided between what NIO sends and what is sent beside it. NIO
/// sees a part of what the client opens, so that both together never send more than all of it.
struct HTTP2SplitWindow {
    /// Size at the beginning (RFC 9113 §6.9.2), of which NIO knows.
    static let initial = 65_535
    /// Largest size (RFC 9113 §6.9.1).
    static let largest = Int(Int32.max)
    /// Most bytes that NIO is kept ready to send at once.
    private static let ready = 1 << 20

    /// Bytes that NIO was allowed to send since the connection began.
    private var given = initial
    /// Bytes that may be sent beside NIO.
    private(set) var held = 0

    /// Whether the client may open the window by so many bytes; if not, NIO is to find that.
    func mayOpen(by increment: Int, written: Int) -> Bool {
        increment > 0 && held + given - written <= Self.largest - increment
    }

    /// The client has opened the window.
    mutating func opened(by increment: Int) { held += increment }

    /// Takes bytes that are sent beside NIO.
    mutating func take(_ count: Int) {
        precondition(count <= held, "a window is exceeded")
        held -= count
    }

    /// How many bytes NIO is to be given now: it has half of the whole, of a small window all if it needs them. As soon
    /// as it could send nothing this is not 0, unless nothing is held either.
    ///
    /// - Parameter written: Bytes of DATA frames that NIO has written since the connection began.
    func due(written: Int) -> Int {
        let rest = given - written
        let all = rest + held
        let aim = all <= 2 * Self.initial ? all : min(Self.ready, all / 2)
        return rest * 2 < aim ? min(held, aim - rest) : 0
    }

    /// NIO is allowed to send more of what is held.
    mutating func give(_ count: Int) {
        held -= count
        given += count
    }
}
