import AppInterface
import Foundation
import HTTPTypes
import ServiceLifecycle
import TestKit
import Testing

@testable import PDF

@Suite("Expired drafts") struct DocumentStoreDraftsTests {
    private static let day = 86400

    @Test("PDF-05 a draft is deleted 24 hours after its last change, to the second, with its file; saved ones stay")
    func purge() async throws {
        try await PDFHarness.run { app in
            let (draft, saved) = (try await app.draft("one", "two"), try await app.saved("three"))
            app.clock.advance(by: .seconds(Self.day - 1))
            #expect(try await app.routes.get(draft).status == 200)
            let turned = try await app.routes.ask(
                .patch,
                "\(draft)/pages/\(try await app.pages(draft)[0])",
                json: #"{"rotate_by":90}"#
            )
            #expect(turned["data.draft_until"] == "2026-01-07T09:59:59Z")
            #expect(try await app.documents.purgeDrafts(at: app.clock.now) == 0)
            app.clock.advance(by: .seconds(Self.day - 1))
            #expect(try await app.routes.get(draft).status == 200)
            app.clock.advance(by: .seconds(1))
            try await app.routes.get(draft).expectProblem("not-found", 404)
            try await app.routes.get("\(draft)/file").expectProblem("not-found", 404)
            try await app.routes.ask(.post, "\(draft)/save").expectProblem("not-found", 404)
            #expect(try app.blobFiles == 2, "not seen any more, but still there")
            #expect(try await app.documents.purgeDrafts(at: app.clock.now) == 1)
            #expect(try app.blobFiles == 1)
            #expect(try await app.paper(saved) == ["jpeg three 0"])
        }
    }

    @Test("A draft that expires while it is changed is deleted, and so is the file that was made of it")
    func endsMeanwhile() async throws {
        try await PDFHarness.run { app in
            let href = try await app.draft("one", "two")
            let page = try await app.pages(href)[0]
            app.paper.hold()
            async let change = app.routes.ask(.delete, "\(href)/pages/\(page)")
            await app.paper.isHolding(1)
            app.clock.advance(by: .seconds(Self.day))
            #expect(try await app.documents.purgeDrafts(at: app.clock.now) == 1)
            app.paper.release()
            try await change.expectProblem("not-found", 404)
            #expect(try app.blobFiles == 0)
        }
    }

    @Test("Many drafts go in several steps")
    func batches() async throws {
        try await PDFHarness.run { app in
            for _ in 0...DocumentStore.purgeBatch { _ = try await app.draft("one") }
            app.clock.advance(by: .seconds(Self.day))
            #expect(try await app.documents.purgeDrafts(at: app.clock.now) == DocumentStore.purgeBatch + 1)
            #expect(try app.blobFiles == 0)
        }
    }

    @Test("The service looks at the start and every ten minutes, and ends with the server")
    func service() async throws {
        try await PDFHarness.run(options: .init(draftLifetime: .seconds(700))) { app in
            _ = try await app.draft("one")
            let service = try #require(app.app.services.first)
            let running = Task { try await service.run() }
            for expected in [1, 1, 0] {
                await app.clock.sleepers(of: ExpiryService.interval)
                #expect(try app.blobFiles == expected)
                app.clock.advance(by: ExpiryService.interval)
            }
            await app.clock.sleepers(of: ExpiryService.interval)
            running.cancel()
            try await running.value
        }
    }
}
