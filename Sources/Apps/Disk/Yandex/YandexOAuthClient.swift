import Crypto
import Foundation
import HTTPTypes
public import Upstream

/// Yandex OAuth, as far as the app uses it: the code flow with PKCE (RFC 7636), refresh and revocation. Source:
/// yandex.com/dev/id, "OAuth".
public struct YandexOAuthAPI: Sendable {
    /// The application as it is registered there.
    public struct Client: Sendable, Equatable {
        /// Its identity.
        public var id: String
        /// Its secret; nil for one that has none.
        public var secret: Secret?
        /// Where the browser goes with the code; nil: the address that is registered.
        public var redirectURI: String?

        /// Describes an application.
        public init(id: String, secret: Secret? = nil, redirectURI: String? = nil) {
            self.id = id
            self.secret = secret
            self.redirectURI = redirectURI
        }
    }

    let upstream: Upstream
    let client: Client

    /// The API behind an upstream, for one application.
    public init(upstream: Upstream, client: Client) {
        self.upstream = upstream
        self.client = client
    }

    /// The API's own word for why it gives no token.
    struct Refusal: Error, Sendable, Equatable {
        let code: String
    }

    /// What opens an account.
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

    /// Where the user gives consent, in a browser.
    func authorizeURL(state: String, verifier: String) -> String {
        var query = [
            ("response_type", "code"), ("client_id", client.id), ("state", state),
            ("code_challenge", Self.challenge(of: verifier)),
            ("code_challenge_method", "S256"),
        ]
        if let redirectURI = client.redirectURI { query.append(("redirect_uri", redirectURI)) }
        return upstream.configuration.url(of: "/authorize?") + Self.form(query)
    }

    func grant(code: String, verifier: String?) async throws -> Grant {
        var form = [("grant_type", "authorization_code"), ("code", code)]
        if let verifier { form.append(("code_verifier", verifier)) }
        return try await token(form)
    }

    func grant(refreshToken: String) async throws -> Grant {
        try await token([("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
    }

    func revoke(accessToken: String) async throws {
        _ = try await post("/revoke_token", [("access_token", accessToken)])
    }

    /// RFC 7636 §4.2.
    static func challenge(of verifier: String) -> String {
        Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString().replacing("+", with: "-").replacing(
            "/",
            with: "_"
        ).replacing("=", with: "")
    }

    private func token(_ form: [(String, String)]) async throws -> Grant {
        let response = try await post("/token", form)
        guard let grant = try? JSONDecoder().decode(Grant.self, from: Data(response.body)), !grant.accessToken.isEmpty
        else {
            throw UpstreamError.badResponse(status: response.status, reason: "no token")
        }
        return grant
    }

    private func post(_ path: String, _ form: [(String, String)]) async throws -> IncomingResponse {
        var form = form + [("client_id", client.id)]
        if let secret = client.secret { form.append(("client_secret", secret.value)) }
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

    /// The form in which it refuses (RFC 6749 §5.2).
    private static let errors = ErrorForm { code(of: $0.body) != nil }

    private static func code(of body: [UInt8]) -> String? {
        guard let code = (try? JSONDecoder().decode(ErrorRecord.self, from: Data(body)))?.error, !code.isEmpty,
            code.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x5F })
        else { return nil }
        return code
    }

    private static func form(_ items: [(String, String)]) -> String {
        items.map { "\($0.0)=\(DiskPath.encoded($0.1))" }.joined(separator: "&")
    }
}
