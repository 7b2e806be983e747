import Foundation
import TestKit
import Testing

extension ContractScenario {
    /// Documents of files of the Disk, and back.
    func documentsAndDisk() async throws {
        let member = try await diskSession()
        let create = "POST /v1/pdf/documents/from-disk"
        let save = "POST /v1/pdf/documents/{id}/save-to-disk"
        let created = try await ask(create, member, body: #"{"path":"disk:/Горы.jpg"}"#)
        #expect(created.status == 201, "\(created.text)")
        for page in ["a4", "a5&margin_mm=5&quality=80"] {
            try await ask(create, query: "?page=\(page)", member, body: #"{"path":"disk:/Горы.jpg"}"#)
        }
        let location = try #require(created.headers["location"])
        let id = String(location.suffix(16))
        for body in [
            "[", "{}", #"{"path":7}"#, #"{"path":"nowhere"}"#, #"{"path":"disk:/nowhere.jpg"}"#,
            #"{"path":"disk:/Документы/Договор.docx"}"#,
        ] {
            try await ask(create, member, body: body)
            try await ask(save, ship: id, member, body: body)
        }
        let large = #"{"path":"\#(String(repeating: "x", count: 70_000))"}"#
        for operation in [create, save] {
            try await ask(operation, ship: id, member, body: large)
            try await ask(
                operation,
                ship: id,
                ["Content-Type": "text/plain"].merging(member) { own, _ in own },
                body: "{}"
            )
            try await ask(
                operation,
                ship: id,
                ["Larder-Profile": "no name"].merging(member) { own, _ in own },
                body: #"{"path":"disk:/a.pdf"}"#
            )
        }
        let precondition = ["If-Match": "\"99\""].merging(member) { own, _ in own }
        for (operation, path) in [(create, "Горы.jpg"), (save, "Горы.pdf")] {
            let response = try await ask(operation, ship: id, precondition, body: #"{"path":"disk:/\#(path)"}"#)
            #expect(response.status == 412, "\(operation): \(response.text)")
        }
        for _ in 0..<2 { try await ask(save, ship: id, member, body: #"{"path":"disk:/Горы.pdf"}"#) }
        try await ask(save, member, body: #"{"path":"disk:/Море.pdf"}"#)
        for fault in ["garbage", "error(500)", "offline"] {
            try await larder.fault(fault, of: "yandex_disk")
            try await ask(save, ship: id, member, body: #"{"path":"disk:/Буря.pdf"}"#)
        }
        try await larder.fault("online", of: "yandex_disk")
        _ = try await diskSession()
        try await unknownOutcome { _ = try await $0.ask(save, ship: id, member, body: #"{"path":"disk:/Шторм.pdf"}"#) }
    }
}
