import Logging
import Settings

/// The settings `log.*`.
struct LogConfiguration: Sendable {
    let level: Logger.Level
    let format: LogFormat
    /// Name of this process in each line; nil for none.
    let node: String?

    init(_ settings: SettingValues, node: String?) throws(SettingError) {
        self.node = node
        level = try settings.choice("log.level")
        format = try settings.choice("log.format")
    }
}
