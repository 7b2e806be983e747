import Foundation
import Screens
import TestKit
import Testing

@testable import PDF

@Suite("The list of documents, which writes its own JSON")
struct DocumentListScreenTests {
    @Test("SRV-06 documents are written as JSONEncoder writes them")
    func list() throws {
        let properties = DocumentProperties(id: "a", name: "\"é/\n", created: .now, size: 12_345, pageCount: 2)
        let rows = [true, false].map { DocumentListScreen.Row(properties, canMerge: $0) }
        for screen in [
            DocumentListScreen(items: rows, revision: 7, empty: nil),
            DocumentListScreen(items: [], revision: 0, empty: .noDocuments),
        ] {
            #expect(try String(decoding: WireFormat.encode(screen), as: UTF8.self) == JSONEncoder.wire.text(screen))
        }
    }
}
