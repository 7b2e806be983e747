import Foundation
import HTTPTypes
import Screens
import Upstream

extension DiskService {
    /// `PUT /v1/disk/file/content`: the bytes of the body become a file, as they come; it is there whole or not at all.
    @Sendable func upload(_ request: ScreenRequest) async throws -> Reply {
        let path = try request.diskPath()
        guard let folder = path.parent, (try? Self.checkName(path.name)) != nil else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        _ = try timeZone(request)
        let overwrite = try request.query.flag("overwrite")
        let account = try await account(of: request)
        let carried = try await upload(request.bodyStream, length: request.declaredBodyLength, to: path, in: folder, overwrite: overwrite, account)
        return try await changedFile(carried, path, account, request, status: .created)
    }

    /// How long a body may take on its way; what a client may take for it is for the connection to say.
    private static let longestUpload: Duration = .seconds(6 * 3600)

    func upload(_ body: ByteStream, length: Int?, to path: DiskPath, in folder: DiskPath, overwrite: Bool, _ account: DiskAccount) async throws -> Carried {
        try refuseOffline()
        let link = try await changing(path, account) {
            try await authorized(account.id) { try await api.uploadLink(path, overwrite: overwrite, $0) }
        }
        let answer = try await changing(path, account) {
            try await api.upstream.stream(
                StreamedRequest(method: .put, url: link.href, headerFields: [.contentType: "application/octet-stream"], body: body, bodyLength: length),
                headTimeout: Self.longestUpload
            )
        }
        let operationID = link.operationID
        return try await carryOut(.upload, path, account) { _ in
            switch answer.status.code {
            case 200, 201: .done
            // Taken, and not on the Disk yet.
            case 202: operationID.map { .underWay(operation: $0) } ?? .done
            case 500..., 408, 429: throw UpstreamError.failing(status: answer.status, retryAfter: nil)
            // What the uploader says of the bytes. Any other status is about the link, which says nothing of the Disk.
            case 409, 412, 413, 423: throw DiskRefusal(status: answer.status.code, code: "")
            default:
                throw UpstreamError.badAnswer(status: answer.status, reason: "the link for the upload does not work")
            }
        }
    }
}
