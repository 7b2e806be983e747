/// `DELETE /v1/{app}/session`: what a front end shows after a logout.
package struct FarewellScreen: Encodable, Sendable {
    /// An alert with one button.
    package struct Alert: Encodable, Sendable, Equatable {
        /// Text.
        package let message: Text
        /// Title of the button.
        package let button: Text

        /// Creates an alert.
        package init(message: Text, button: Text) {
            self.message = message
            self.button = button
        }
    }

    /// The next screen.
    package let route: ScreenLink
    /// The alert to show, or null.
    @Nullable package var alert: Alert?

    /// Creates a farewell; without an alert, the front end shows the login at once.
    package init(route: ScreenLink, alert: Alert? = nil) {
        self.route = route
        _alert = Nullable(wrappedValue: alert)
    }
}
