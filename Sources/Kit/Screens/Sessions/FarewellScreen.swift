/// `DELETE /v1/{app}/session`: what a front end shows after a logout.
public struct FarewellScreen: Encodable, Sendable {
    /// An alert with one button.
    public struct Alert: Encodable, Sendable, Equatable {
        /// Text.
        public let message: Text
        /// Title of the button.
        public let button: Text

        /// Creates an alert.
        public init(message: Text, button: Text) {
            self.message = message
            self.button = button
        }
    }

    /// The next screen.
    public let route: ScreenLink
    /// The alert to show, or null.
    @Nullable public var alert: Alert?

    /// Creates a farewell; without an alert, the front end shows the login at once.
    public init(route: ScreenLink, alert: Alert? = nil) {
        self.route = route
        _alert = Nullable(wrappedValue: alert)
    }
}
