import HTTPServer
import Settings

/// The settings `http.*`.
struct HTTPConfiguration: Sendable {
    var host: String
    var port: Int
    let allowedHosts: [String]
    let allowedOrigins: [String]
    let limits: ConnectionLimits
    /// How long requests under way may take after SIGTERM.
    let stopTimeout: Duration

    init(_ settings: SettingValues) throws(SettingError) {
        host = try settings.text("http.host")
        port = try settings.integer("http.port")
        allowedHosts = try settings.list("http.allowed_hosts")
        allowedOrigins = try settings.list("http.allowed_origins")
        limits = try ConnectionLimits(settings)
        stopTimeout = try settings.milliseconds("http.stop_timeout_ms")
    }
}

extension ConnectionLimits {
    fileprivate init(_ settings: SettingValues) throws(SettingError) {
        self.init(
            headerBytes: try settings.integer("http.header_bytes"),
            urlBytes: try settings.integer("http.url_bytes"),
            headDeadline: try settings.milliseconds("http.head_timeout_ms"),
            idleTimeout: try settings.milliseconds("http.idle_timeout_ms"),
            bodyDeadline: try settings.milliseconds("http.body_timeout_ms"),
            writeDeadline: try settings.milliseconds("http.write_timeout_ms"),
            connections: try settings.integer("http.connections")
        )
    }
}
