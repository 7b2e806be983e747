import HTTPSemantics
package import HTTPTypes

/// How a client keeps the token of a session, and sends it. It is part of the session: a token opens nothing by the
/// other carrier (decision 114).
package enum SessionCarrier: String, Sendable {
    /// The client itself, by `Authorization: Bearer …` (RFC 6750).
    case bearer
    /// A browser, in a cookie that its scripts cannot read (RFC 6265).
    case cookie
}

extension HTTPField.Name {
    /// `Larder-Session`: how a client wants to keep the token of the session that it opens. No form can send it.
    package static let larderSession = HTTPField.Name(literal: "Larder-Session")
    /// `Clear-Site-Data`, W3C: what a browser forgets of this origin.
    static let clearSiteData = HTTPField.Name(literal: "Clear-Site-Data")
}
