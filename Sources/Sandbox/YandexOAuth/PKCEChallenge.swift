import Crypto
import Foundation

/// What the exchange of a code has to prove (RFC 7636).
struct PKCEChallenge: Sendable, Equatable, Codable {
    enum Method: String, Sendable, Codable {
        case plain
        case sha256 = "S256"
    }

    let text: String
    let method: Method

    /// - Parameter method: `plain` if it is not given (section 4.3).
    init?(text: String, method: String?) {
        guard let method = Method(rawValue: method ?? "plain"), Self.isWellFormed(text) else { return nil }
        self.text = text
        self.method = method
    }

    func isMet(by verifier: String) -> Bool {
        guard Self.isWellFormed(verifier) else { return false }
        switch method {
        case .plain: return verifier == text
        case .sha256:
            let digest = Data(SHA256.hash(data: Array(verifier.utf8))).base64EncodedString()
            return digest.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "") == text
        }
    }

    /// 43 to 128 unreserved characters (sections 4.1 and 4.2).
    private static func isWellFormed(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || $0.properties.numericType != nil
                        || "-._~".unicodeScalars.contains($0))
            }
    }
}
