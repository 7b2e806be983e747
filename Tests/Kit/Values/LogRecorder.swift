package import Logging

/// Records log lines.
package final class LogRecorder: Sendable {
    /// A line, with the metadata of its logger.
    package struct Entry: Sendable {
        package let level: Logger.Level
        package let message: String
        package let metadata: Logger.Metadata
    }

    private let recorded = Watched<[(line: String, entry: Entry)]>([])

    /// Creates an empty log.
    package init() {}

    /// The lines so far: level, message and metadata.
    package var lines: [String] { recorded.value.map(\.line) }

    /// Returns the lines so far of a level and above.
    package func entries(from level: Logger.Level) -> [Entry] {
        recorded.value.map(\.entry).filter { $0.level >= level }
    }

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
            let line = "\(event.level) \(event.message) \(event.metadata ?? [:])"
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let entry = Entry(level: event.level, message: "\(event.message)", metadata: all)
            log.recorded.update { $0.append((line, entry)) }
        }
    }
}

extension Logger {
    /// Discards everything.
    package static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
