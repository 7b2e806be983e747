package import AppInterface
import Database
import Foundation
import GRDB
import SharedStore

extension DiskApp {
    /// The tables that a copy from one store to the other has. What is cached of files is not copied: each server
    /// compares and fetches what is marked.
    package static let userTables: [UserTable] = [
        UserTable(
            "disk_installation",
            key: ["one"],
            ["one": .integer, "onboarding_seen": .boolean],
            rows: .initial
        ),
        // First: rows of the others refer to it.
        UserTable(
            "disk_account",
            key: ["account"],
            [
                "account": .text, "name": .text, "linked_at": .integer, "total": .integer, "used": .integer,
                "trash": .integer, "epoch": .integer,
            ],
            local: UserTable.FurtherColumns(["revision"]) { _, _ in [0] }
        ),
        UserTable(
            "disk_login",
            key: ["session"],
            [
                "session": .text, "account": .text, "token": .text, "rejected": .boolean, "created_at": .integer,
            ]
        ),
        UserTable("disk_authorization", key: ["state"], ["state": .text, "created_at": .integer]),
        // Tokens, and what logins that have begun are verified by. Each store has a key of its own.
        UserTable(
            "sealed_secret",
            key: ["name"],
            ["name": .text],
            condition: "substr(name, 1, 5) = 'disk/'",
            shared: UserTable.FurtherColumns(["sealed"]) { row, copy in
                let secret = SecretCopy(try row.text("name"), copy)
                return [try copy.requireSeal().seal(try secret.local(), name: secret.name)]
            },
            local: UserTable.FurtherColumns(["sealed"]) { row, copy in
                let secret = SecretCopy(try row.text("name"), copy)
                return [try copy.secrets.seal(try secret.shared(), name: secret.name)]
            },
            isEqual: { row, copy in
                let secret = SecretCopy(try row.text("name"), copy)
                return try secret.local() == secret.shared()
            }
        ),
        UserTable(
            "disk_operation",
            key: ["id"],
            [
                "id": .text, "account": .text, "upstream_id": .text, "action": .text, "path": .text, "target": .text,
                "status": .text, "created_at": .integer,
            ]
        ),
        // The first server that looks takes up those in progress.
        UserTable(
            "disk_download",
            key: ["id"],
            [
                "id": .text, "account": .text, "path": .text, "version": .text, "status": .text,
                "bytes_done": .integer, "bytes_total": .integer, "failure": .text, "created_at": .integer,
            ],
            shared: UserTable.FurtherColumns(["holder", "until"]) { _, _ in ["", 0] }
        ),
        // Copies of marks are compared by their numbers.
        UserTable(
            "disk_offline",
            key: ["number"],
            ["number": .integer, "account": .text, "path": .text, "kind": .text, "marked_at": .integer],
            identity: "number",
            local: UserTable.FurtherColumns(["due_at"]) { _, _ in [0] }
        ),
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
        ),
    ]
}

/// A sealed secret on the way from one store to the other.
private struct SecretCopy {
    let name: String
    let copy: UserCopy

    init(_ name: String, _ copy: UserCopy) { (self.name, self.copy) = (name, copy) }

    func local() throws -> Data { try copy.secrets.secret(name: name, in: copy.db) ?? Data() }

    func shared() throws -> Data { try copy.requireSeal().secret(name: name, copy.transaction) ?? Data() }
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
