package import Logging

extension Logger {
    /// Discards everything.
    package static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
