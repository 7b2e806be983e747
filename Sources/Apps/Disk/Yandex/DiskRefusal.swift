import Foundation
import HTTP
import HTTPTypes
import Upstream

/// A refusal of the API, with its error code.
struct DiskRefusal: Error, Sendable, Equatable {
    let status: Int
    /// The API's error code, such as `DiskNotFoundError`; empty if it sent none.
    let code: String

    /// Whether it says that nothing is at the requested path. 404 and 410 have other codes, too, such as those of an
    /// operation, a route or a version of the API.
    var isGone: Bool { (status == 404 || status == 410) && code == "DiskNotFoundError" }

    /// Whether it says that the parent folder of the result is missing.
    var isOfParent: Bool { status == 409 && code == "DiskPathDoesntExistsError" }

    /// Whether it says that the settings of a link are not to be had, rather than that the call may succeed later.
    var concernsSettings: Bool { [400, 403, 404, 405, 410].contains(status) }

    /// Whether it says that something is at the place of a write. An uploader sends no code.
    var saysThatTargetExists: Bool {
        status == 409 && (code.isEmpty || code.contains("Exist") && code != "DiskPathDoesntExistsError")
    }
}

extension DiskRefusal {
    /// Parses a refusal in the API's form, `{"error": "DiskNotFoundError", "description": "…", "message": "…"}`; nil
    /// for another body.
    ///
    /// Yandex publishes no list of codes: a code is a word of ASCII letters and digits that begins with a capital
    /// letter. Web frameworks send phrases instead.
    init?(_ status: HTTPResponse.Status, _ body: [UInt8]) {
        guard let code = (try? JSONDecoder().decode(ErrorRecord.self, from: Data(body)))?.error,
            let first = code.utf8.first,
            (0x41...0x5A).contains(first), code.utf8.allSatisfy(ASCIISet.alphanumerics.contains)
        else { return nil }
        self.init(status: status.code, code: code)
    }

    /// Extracts the refusal from an error of a read or a write; nil for another error.
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
    /// The form of the API's refusals of calls.
    static let errors = ErrorForm { DiskRefusal($0.status, $0.body) != nil }

    /// The form of refusals of reads. A lock says nothing about the state of the item, so a stored copy is shown.
    static let errorsOfReads = ErrorForm(passing: [locked]) { DiskRefusal($0.status, $0.body) != nil }

    /// The form of refusals of reads of items that certainly exist, so that "not found" is a failure: a root, which
    /// each Disk has, or an item that the API has acknowledged lately (``YoungWrites``).
    static let errorsOfPresent = ErrorForm(passing: [locked]) { response in
        guard response.status != .notFound, response.status != .gone else { return false }
        return DiskRefusal(response.status, response.body) != nil
    }

    /// 423: another operation of the API holds the item.
    static let locked = 423
}
