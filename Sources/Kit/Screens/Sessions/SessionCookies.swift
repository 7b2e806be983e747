import Crypto
package import Database
import Foundation
import HTTPSemantics
import HTTPTypes

/// The cookies of sessions: one for each app, named after the data directory, since cookies do not know ports: two
/// servers on one host would overwrite each other's.
package struct SessionCookies: Sendable, Equatable {
    /// What the names of the cookies of all servers of this kind begin with.
    static let common = "larder-"
    /// Seconds that a browser keeps a cookie at most (RFC 6265bis §5.5).
    static let longestAge = 400 * 86_400

    /// What the names of this server's cookies begin with.
    package let prefix: String

    /// The cookies of the server whose names have this in common.
    package init(instance: String) {
        prefix = "\(Self.common)\(instance)-"
    }

    /// The cookies of a data directory: named after its key.
    ///
    /// - Throws: `StorageError`.
    package init(_ secrets: SealedSecrets) throws {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("larder session cookies".utf8),
            using: try secrets.credentialHashKey()
        )
        let letters = Array("abcdefghijklmnopqrstuvwxyz234567")
        self.init(instance: String(code.prefix(6).map { letters[Int($0 & 31)] }))
    }

    /// Returns the name of an app's cookie.
    package func name(of app: String) -> String { prefix + app }

    /// Returns the pairs of app and token in the cookies of a request, in order.
    func tokens(in headerFields: HTTPFields) -> [(app: Substring, token: Substring)] {
        guard headerFields.contains(.cookie) else { return [] }
        return headerFields[values: .cookie].flatMap { CookiePairs.named(prefix, in: $0) }.compactMap { pair in
            guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let (app, token) = (pair[..<equals].dropFirst(prefix.count), pair[equals...].dropFirst())
            return token.isEmpty ? nil : (app, token)
        }
    }

    /// Returns the value of `Set-Cookie` that keeps a text under the name of an app.
    ///
    /// - Parameters:
    ///   - age: seconds until the browser forgets it; nil when it is closed
    ///   - path: the beginning of the paths that it is sent to
    ///   - isSecure: whether the browser uses https
    func line(_ app: String, _ value: String, age: Int?, path: String = "/v1", isSecure: Bool) -> String {
        "\(name(of: app))=\(value); Path=\(path); HttpOnly; SameSite=Strict" + (age.map { "; Max-Age=\($0)" } ?? "")
            + (isSecure ? "; Secure" : "")
    }
}

extension HTTPFields {
    /// Removes the cookies of sessions of all servers of this kind: they are for no other server.
    mutating func removeSessionCookies() {
        guard contains(.cookie) else { return }
        let lines = self[values: .cookie].compactMap { CookiePairs.line($0, without: SessionCookies.common) }
        self[values: .cookie] = lines
    }
}
