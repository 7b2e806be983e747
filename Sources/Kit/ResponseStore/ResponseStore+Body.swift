public import Database
public import Foundation
import GRDB

extension ResponseStore {
    /// An open body.
    public enum OpenBody: Sendable {
        /// The whole body.
        case bytes(Data)
        /// An open file.
        case blob(BlobReader)
    }

    /// Opens the body of a stored response. A response whose file is missing or truncated is removed.
    ///
    /// - Returns: Nil for such a response. Only then this waits for a writer.
    /// - Throws: `StorageError`.
    public func openBody(of response: CachedResponse) async throws -> OpenBody? {
        switch response.body {
        case .bytes(let data): return .bytes(data)
        case .blob(let blob):
            do {
                return .blob(try database.blobs.reader(blob))
            } catch StorageError.blobUnavailable {
                // By the id of the blob, because the response may have another body since it was read.
                try await database.writeFreeingRoom { db in
                    try db.execute(sql: Self.deleteByBlob, arguments: [blob.id])
                }
                return nil
            }
        }
    }

    static let deleteByBlob = "DELETE FROM stored_response WHERE blob_id = ?"
}
