package import Logging

/// Records log lines.
package final class LogRecorder: Sendable {
    private let recorded = Watched<[String]>([])

    /// Creates an empty log.
    package init() {}

    /// The lines so far: level, message and metadata.
    package var lines: [String] { recorded.value }

    /// A logger that writes to it, at every level.
    package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.recorded.update { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }
}

extension Logger {
    /// Discards everything.
    package static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
