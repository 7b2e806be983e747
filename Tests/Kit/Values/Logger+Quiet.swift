public import Logging

extension Logger {
    /// Discards everything.
    public static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
