import Concurrency
import Foundation
import HTTPTypes
import NIOCore
import Screens
import Storage
import Synchronization
import TestKit
import Testing

@testable import PDF

/// A Disk of three files that also keeps the files put on it.
private final class FileDisk: Sendable {
    let files = Mutex<[String: Data]>([
        "/Photos/one.jpg": PDFHarness.photo("one").bytes, "/notes.txt": Data("text".utf8), "/empty.jpg": Data(),
    ])

    var disk: AccountFiles {
        AccountFiles(
            app: "disk",
            fetch: { path, session, folder, maximum in
                guard path != "/" else { throw Problem.invalidParameter("path", accepted: "accepts a file") }
                guard session.account == "captain", let bytes = self.files.withLock({ $0[path] }) else {
                    throw Problem.notFound("There is no \(path) on the Disk.")
                }
                guard bytes.count <= maximum else { throw Problem(.tooLarge, "\(path) is too large.") }
                let file = try folder.file()
                try file.append(bytes)
                return .init(
                    name: String(path.split(separator: "/").last ?? ""),
                    file: file,
                    beginning: Array(bytes.prefix(64))
                )
            },
            store: { path, session, file in
                guard path != "/" else { throw Problem.invalidParameter("path", accepted: "accepts a file") }
                let isTaken = self.files.withLock { $0[path] != nil }
                guard !isTaken else { throw Problem(.targetExists, "\(path) is there already.") }
                var bytes = Data()
                for try await part in try file.parts(0..<file.length) { bytes += part.readableBytesView }
                self.files.withLock { $0[path] = bytes }
                return path
            }
        )
    }
}

@Suite struct DiskExchangeTests {
    private func token(_ app: PDFHarness, app name: String = "disk") async throws -> String {
        try await app.sessions.open(
            Session(app: name, kind: .user, account: "captain", name: nil, createdAt: app.clock.now)
        )
    }

    @Test("PDF-14 a photo of the Disk becomes a draft of the profile")
    func fromDisk() async throws {
        try await PDFHarness.run(disk: FileDisk().disk) { app in
            let token = try await token(app)
            let created = try await app.ask(
                .post,
                "/v1/pdf/documents/from-disk?page=a4",
                as: token,
                json: #"{"path":"/Photos/one.jpg"}"#
            )
            created.expectPDF("pdf.created", status: 201)
            #expect(created["data.status"] == "draft" && created["data.pages.0.width"] == 595)
            #expect(try await app.paper(try created.string("data.href")) == ["jpeg one 0"])
            let refusals: [(String, String, Int)] = [
                (#"{"path":"/notes.txt"}"#, "unsupported-media-type", 415), (#"{"path":"/empty.jpg"}"#, "damaged", 422),
                (#"{"path":"/nothing.jpg"}"#, "not-found", 404), (#"{}"#, "validation-failed", 422),
                (#"{"path":""}"#, "validation-failed", 422),
                (#"{"path":"/"}"#, "validation-failed", 422),
            ]
            for (body, code, status) in refusals {
                try await app.ask(.post, "/v1/pdf/documents/from-disk", as: token, json: body).expectProblem(
                    code,
                    status
                )
            }
            #expect(try app.blobFiles == 1)
        }
    }

    @Test("PDF-14 a document's file is saved to a free path of the Disk")
    func saveToDisk() async throws {
        let made = FileDisk()
        try await PDFHarness.run(disk: made.disk) { app in
            let (token, href) = (try await token(app), try await app.saved("one", "two"))
            let written = try await app.ask(.post, "\(href)/save-to-disk", as: token, json: #"{"path":"/two.pdf"}"#)
            written.expectPDF("pdf.reader")
            #expect(written["data.disk_path"] == "/two.pdf" && written["data.href"] == .string(href))
            #expect(
                made.files.withLock { $0["/two.pdf"] }
                    == Data(
                        "\(StubDocumentEngine.header)%title \(try written.string("data.name"))\njpeg one 0\njpeg two 0"
                            .utf8
                    )
            )
            try await app.ask(.post, "\(href)/save-to-disk", as: token, json: #"{"path":"/two.pdf"}"#)
                .expectProblem("target-exists", 409)
            let root = try await app.ask(.post, "\(href)/save-to-disk", as: token, json: #"{"path":"/"}"#)
            root.expectProblem("validation-failed", 422)
            #expect(root["errors.0.pointer"] == "/path" && root["errors.0.detail"] == "path accepts a file.")
        }
    }

    @Test("PDF-14 both take a session of the Disk, and are not there without a Disk")
    func sessions() async throws {
        try await PDFHarness.run(disk: FileDisk().disk) { app in
            let href = try await app.saved("one")
            for path in ["/v1/pdf/documents/from-disk", "\(href)/save-to-disk"] {
                try await app.ask(.post, path, json: #"{"path":"/Photos/one.jpg"}"#).expectProblem(
                    "session-required",
                    401
                )
                try await app.ask(.post, path, as: try await token(app, app: "ships"), json: "{}").expectProblem(
                    "session-expired",
                    401
                )
            }
        }
        try await PDFHarness.run { app in
            try await app.ask(.post, "/v1/pdf/documents/from-disk", json: "{}").expectProblem("method-not-allowed", 405)
        }
    }
}
