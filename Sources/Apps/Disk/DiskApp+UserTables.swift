package import AppInterface
import Database
import Foundation
import GRDB
import SharedStore

extension DiskApp {
    /// The tables that a copy from one store to the other has beside those that servers replicate.
    package static let userTables: [UserTable] = [
        // What is being sent is in doubt for who goes on with it, as after a crash.
        UserTable(
            "disk_outbox",
            key: ["number"],
            [
                "number": .integer, "id": .text, "account": .text, "work": .text, "state": .text,
                "attempts": .integer, "doubtful": .boolean, "reason": .text, "due_at": .integer,
                "queued_at": .integer, "length": .integer,
            ],
            identity: "number",
            shared: UserTable.FurtherColumns(["blob_id"]) { [try UploadCopy($0, $1)?.insertContent()] },
            local: UserTable.FurtherColumns(["blob_id"]) { [try UploadCopy($0, $1)?.insertBlob().id] },
            isEqual: { try UploadCopy($0, $1)?.isEqual() ?? true }
        )
    ]
}

/// The bytes of an upload that waits, on the way from one store to the other.
private struct UploadCopy {
    let number: Int64
    let length: Int
    let copy: UserCopy

    /// Nil for an operation without bytes.
    init?(_ row: UserRow, _ copy: UserCopy) throws {
        guard !row.isNull("length") else { return nil }
        number = try row.integer("number")
        length = Int(try row.integer("length"))
        self.copy = copy
    }

    func insertContent() throws -> String { try copy.insertContent(try blob(), in: SharedOutbox.contents) }

    func insertBlob() throws -> Blob {
        try copy.insertBlob(try content(), length: length, from: SharedOutbox.contents)
    }

    func isEqual() throws -> Bool { try copy.isEqual(try blob(), try content(), in: SharedOutbox.contents) }

    private func blob() throws -> Blob {
        let sql = "SELECT blob_id FROM disk_outbox WHERE number = ?"
        guard let id = try BlobID.fetchOne(copy.db, sql: sql, arguments: [number]) else {
            throw UserRow.Mismatch(column: "blob_id")
        }
        return Blob(id: id, length: length)
    }

    private func content() throws -> String {
        let sql = "SELECT blob_id FROM disk_outbox WHERE number = $1"
        return try copy.transaction.rows(sql, [number]).first?.value("blob_id") ?? ""
    }
}
