import Foundation
import HTTPTypes
import Upstream

/// The upstream refused, with its own word for why.
struct DiskRefusal: Error, Sendable, Equatable {
    let status: Int
    /// The API's code, such as `DiskNotFoundError`; empty where it gave none.
    let code: String

    /// Whether it says that there is nothing at the path that was asked for. 404 and 410 have other codes, too, such as
    /// those of an operation, a route or a version of the API.
    var isGone: Bool { (status == 404 || status == 410) && code == "DiskNotFoundError" }
}

extension DiskRefusal {
    /// Reads a refusal in the form of the API, `{"error": "DiskNotFoundError", "description": "…", "message": "…"}`;
    /// nil for any other body.
    ///
    /// Yandex publishes no list of codes: one is a word of ASCII letters and digits that begins with a capital. Web
    /// frameworks have phrases there.
    init?(_ status: HTTPResponse.Status, _ body: [UInt8]) {
        guard let code = (try? JSONDecoder().decode(ErrorRecord.self, from: Data(body)))?.error,
            let first = code.utf8.first,
            (0x41...0x5A).contains(first), code.utf8.allSatisfy(Self.isWordCharacter)
        else { return nil }
        self.init(status: status.code, code: code)
    }

    private static func isWordCharacter(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// Finds the refusal in an error of a read or a write; nil where it is none.
    init?(_ error: any Error) {
        switch error {
        case UpstreamError.rejected(let status, let body):
            self = DiskRefusal(status, body) ?? DiskRefusal(status: status.code, code: "")
        case let refusal as DiskRefusal: self = refusal
        default: return nil
        }
    }
}

extension YandexDiskClient {
    /// The form in which the API refuses.
    static let errors = ErrorForm { DiskRefusal($0.status, $0.body) != nil }

    /// The same for a request that is about a root: a Disk without a root there is not, so "gone" is a failure.
    static let errorsOfRoot = ErrorForm { response in
        guard response.status != .notFound, response.status != .gone else { return false }
        return DiskRefusal(response.status, response.body) != nil
    }
}
