import HTTPSemantics
import Synchronization

/// Names requests: a client's own `X-Request-Id` where it is harmless, else the run of the server and a running number.
final class RequestIdentities: Sendable {
    /// An identity that Larder gave.
    struct Number: CustomStringConvertible {
        let run: String
        let number: Int

        var description: String { "\(run)-\(number)" }
    }

    private let run: String
    private let lastNumber = Atomic(0)

    init(run: String) {
        self.run = run
    }

    func identity(wanted: String?) -> String {
        if let wanted, Self.isHarmless(wanted) { return wanted }
        return next().description
    }

    /// The next identity.
    func next() -> Number {
        Number(run: run, number: lastNumber.add(1, ordering: .relaxed).newValue)
    }

    /// Up to 128 characters that cannot break a log line or a header.
    static func isHarmless(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 128
            && text.utf8.allSatisfy { ASCIISet.alphanumerics.contains($0) || "-.:_".utf8.contains($0) }
    }
}
