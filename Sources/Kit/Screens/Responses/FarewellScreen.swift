/// `DELETE /v1/{app}/session`: what a front end shows after a logout.
public struct FarewellScreen: Encodable, Sendable {
    /// An alert with one button.
    public struct Alert: Encodable, Sendable, Equatable {
        /// Text.
        public let message: String
        /// Title of the button.
        public let button: String

        /// Creates an alert.
        public init(message: String, button: String) {
            self.message = message
            self.button = button
        }
    }

    /// Name of the screen in the front end.
    public let route: String
    /// The alert to show, or null.
    @Nullable public var alert: Alert?

    /// Creates a farewell; without an alert, the front end shows the login at once.
    public init(route: String = "login", alert: Alert? = nil) {
        self.route = route
        _alert = Nullable(wrappedValue: alert)
    }
}
