import Foundation
import Screens
import TestKit
import Testing

@testable import Disk

@Suite("Lists of the Disk that write their own JSON")
struct RowListScreenTests {
    @Test("SRV-06 rows of every kind are written as JSONEncoder writes them", arguments: [true, false])
    func rows(offline: Bool) throws {
        var picture = DiskItem(path: try #require(DiskPath("/Ä \"b\".jpg")), kind: .file)
        (picture.size, picture.created, picture.modified) = (12_345, Date(timeIntervalSince1970: 1.5), .now)
        (picture.mediaType, picture.mimeType) = ("image", "image/jpeg")
        (picture.isPublished, picture.publicURL) = (true, "https://disk.test/d/1")
        let items = [DiskItem(path: try #require(DiskPath("/a+b")), kind: .dir), picture]
        let rows = items.map { DiskRow(item: $0, seenAt: .now, isDownloaded: $0.kind == .file) }
        for (rows, folder) in [(rows, nil), (rows, .root), ([], DiskPath("/a/b"))] {
            let screen = RowListScreen(
                rows,
                timeZone: .gmt,
                folder: folder,
                empty: .folder(.root),
                isEmpty: rows.isEmpty,
                offline: offline,
                actions: rows.isEmpty ? nil : [.refresh("/v1/disk/files?refresh=1")]
            )
            #expect(try String(decoding: WireFormat.encode(screen), as: UTF8.self) == JSONEncoder.wire.text(screen))
        }
    }
}
