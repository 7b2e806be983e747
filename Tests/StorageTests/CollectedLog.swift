import Logging
import Synchronization

/// A logger that collects the messages of warnings and notices.
final class CollectedLog: Sendable {
    private let collected = Mutex<[String]>([])

    /// The messages, in their order.
    var lines: [String] { collected.withLock(\.self) }

    var logger: Logger { Logger(label: "collected") { _ in Handler(log: self) } }

    private func append(_ line: String) { collected.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let log: CollectedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(
            level: Logger.Level,
            message: Logger.Message,
            metadata: Logger.Metadata?,
            source: String,
            file: String,
            function: String,
            line: UInt
        ) {
            log.append("\(message)")
        }
    }
}
