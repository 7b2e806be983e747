import Logging
import Settings

/// The settings `log.*`.
struct LogConfiguration: Sendable {
    let level: Logger.Level
    let format: LogFormat

    init(_ settings: SettingValues) throws(SettingError) {
        level = try settings.choice("log.level")
        format = try settings.choice("log.format")
    }
}
