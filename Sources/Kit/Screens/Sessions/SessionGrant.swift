/// The token of a session that was just opened, as its screen shows it: null if a cookie carries it.
package struct SessionGrant: Encodable, Sendable {
    /// Until when a browser keeps the cookie.
    package enum Lifetime: Sendable {
        /// Until the browser is closed.
        case untilBrowserCloses
        /// As long as browsers keep cookies.
        case lasting
    }

    let token: String
    let carrier: SessionCarrier

    /// The token of a session that was opened for a carrier.
    package init(_ token: String, _ carrier: SessionCarrier) {
        self.token = token
        self.carrier = carrier
    }

    /// Writes the token, or null.
    ///
    /// - Throws: What the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch carrier {
        case .bearer: try container.encode(token)
        case .cookie: try container.encodeNil()
        }
    }
}
