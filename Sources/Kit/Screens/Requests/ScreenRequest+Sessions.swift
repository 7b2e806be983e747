import HTTPSemantics
import HTTPServer
import HTTPTypes

extension ScreenRequest {
    /// Returns the carrier that `Larder-Session` asks for.
    ///
    /// - Throws: ``Problem``, 400 for a value other than `cookie`, 403 if a page of another origin asks for a cookie.
    package func sessionCarrier() throws(Problem) -> SessionCarrier {
        let values = headerFields[values: .larderSession]
        guard let value = values.first else { return .bearer }
        guard values.count == 1, value == SessionCarrier.cookie.rawValue else {
            throw Problem(
                .invalidParameter,
                "Larder-Session must be cookie, in lower case and once; without the field the token is a bearer's."
            )
        }
        guard browser.mayGetCookies else {
            throw Problem(.originNotAllowed, "Only pages of this server get cookies.")
        }
        return .cookie
    }
}
