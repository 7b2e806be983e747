import TestKit

extension LogRecorder {
    /// The messages of notices, warnings and errors, without their metadata.
    var messages: [String] {
        lines.compactMap { line in
            let level = line.prefix { $0 != " " }
            guard ["notice", "warning", "error"].contains(level) else { return nil }
            let message = line.dropFirst(level.count + 1)
            return String(message.firstRange(of: " [").map { message[..<$0.lowerBound] } ?? message)
        }
    }
}
