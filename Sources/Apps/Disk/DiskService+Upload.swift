import Foundation
import HTTPTypes
import Screens
import Upstream

extension DiskService {
    /// `PUT /v1/disk/file/content`: the bytes of the body become a file, as they come; it is there whole or not at all.
    @Sendable func upload(_ request: ScreenRequest) async throws -> ScreenResponse {
        let path = try request.diskPath()
        guard path.parent != nil, (try? Self.checkName(path.name)) != nil else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        guard request.headerFields[.contentRange] == nil else {
            // RFC 9110 §14.5: taken for the whole, a part would destroy the rest.
            throw Problem.invalidParameter("Content-Range", accepted: "is not accepted: a file is sent as a whole")
        }
        _ = try timeZone(request)
        let overwrite = try request.query.flag("overwrite")
        let account = try await account(of: request)
        let kind = DiskWrite.Kind.upload(request.bodyStream, length: request.declaredBodyLength, overwrite: overwrite)
        let written = try await run(DiskWrite(kind: kind, path: path, conditions: conditions(request)), account)
        return try changedFile(written, request, status: .created, isContent: true)
    }
}
