import Crypto
import Foundation
import HTTP
import HTTPTypes
import Storage
import Upstream

/// Client of Yandex OAuth, as far as the app uses it: the code flow with PKCE (RFC 7636), refresh and revocation.
/// Source: yandex.com/dev/id, "OAuth".
struct YandexOAuthClient: Sendable {
    /// An application that is registered at Yandex OAuth.
    struct Application: Sendable, Equatable {
        var id: String
        /// Its secret; nil for one that has none.
        var secret: Secret?
        /// The address to which the browser is redirected with the code; nil for the registered one.
        var redirectURI: String?
    }

    let upstream: Upstream
    let application: Application

    /// A refusal of a token, with the error code of RFC 6749 §5.2.
    struct Refusal: Error, Sendable, Equatable {
        let code: String
    }

    /// The token response (RFC 6749 §5.1).
    struct Grant: Decodable, Sendable {
        let accessToken: String
        let refreshToken: String?
        /// Seconds.
        let expiresIn: Int?

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case refreshToken = "refresh_token"
            case expiresIn = "expires_in"
        }
    }

    /// Returns the address at which the user gives consent in a browser.
    func authorizeURL(state: String, verifier: String) -> String {
        var query = [
            ("response_type", "code"), ("client_id", application.id), ("state", state),
            ("code_challenge", Self.challenge(of: verifier)),
            ("code_challenge_method", "S256"),
        ]
        if let redirectURI = application.redirectURI { query.append(("redirect_uri", redirectURI)) }
        return upstream.configuration.url(of: "/authorize?") + Self.form(query)
    }

    /// Exchanges an authorization code for a token (RFC 6749 §4.1.3).
    func grant(code: String, verifier: String?) async throws -> Grant {
        var form = [("grant_type", "authorization_code"), ("code", code)]
        if let verifier { form.append(("code_verifier", verifier)) }
        return try await token(form)
    }

    /// Exchanges a refresh token for a token (RFC 6749 §6).
    func grant(refreshToken: String) async throws -> Grant {
        try await token([("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
    }

    /// Revokes an access token (RFC 7009 §2.1).
    func revoke(accessToken: String) async throws {
        _ = try await post("/revoke_token", [("access_token", accessToken)])
    }

    /// Returns the code challenge of a verifier (RFC 7636 §4.2).
    static func challenge(of verifier: String) -> String {
        Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString().replacing("+", with: "-").replacing(
            "/",
            with: "_"
        ).replacing("=", with: "")
    }

    private func token(_ form: [(String, String)]) async throws -> Grant {
        let response = try await post("/token", form)
        guard let grant = try? JSONDecoder().decode(Grant.self, from: Data(response.body)), !grant.accessToken.isEmpty
        else { throw UpstreamError.badResponse(status: response.status, reason: "no token") }
        return grant
    }

    private func post(_ path: String, _ form: [(String, String)]) async throws -> IncomingResponse {
        var form = form + [("client_id", application.id)]
        if let secret = application.secret { form.append(("client_secret", secret.value)) }
        let request = OutgoingRequest(
            method: .post,
            url: upstream.configuration.url(of: path),
            headerFields: [.contentType: "application/x-www-form-urlencoded", .accept: "application/json"],
            body: Array(Self.form(form).utf8)
        )
        do {
            let response = try await upstream.call(request, errors: Self.errors)
            guard response.status.kind == .successful else {
                throw UpstreamError.badResponse(status: response.status, reason: "status \(response.status.code)")
            }
            return response
        } catch UpstreamError.rejected(_, let body) {
            throw Refusal(code: Self.code(of: body) ?? "")
        }
    }

    /// The form of refusals (RFC 6749 §5.2).
    private static let errors = ErrorForm { code(of: $0.body) != nil }

    private static func code(of body: [UInt8]) -> String? {
        guard let code = (try? JSONDecoder().decode(ErrorRecord.self, from: Data(body)))?.error, !code.isEmpty,
            code.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x5F })
        else { return nil }
        return code
    }

    private static func form(_ items: [(String, String)]) -> String {
        items.map { "\($0.0)=\(PercentEncoding.encode($0.1, allowed: .unreserved))" }.joined(separator: "&")
    }
}
