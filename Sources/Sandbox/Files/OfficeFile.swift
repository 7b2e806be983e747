/// Writes the smallest documents that word processors and spreadsheets open (ECMA-376, parts 1 and 2).
enum OfficeFile {
    /// - Parameter paragraphs: text of any script.
    static func docx(paragraphs: [String]) -> [UInt8] {
        let body = paragraphs.map { #"<w:p><w:r><w:t xml:space="preserve">\#(escaped($0))</w:t></w:r></w:p>"# }.joined()
        return package(
            main: "word/document.xml",
            type: "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
            parts: [
                (
                    "word/document.xml",
                    #"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">"#
                        + "<w:body>\(body)</w:body></w:document>"
                )
            ]
        )
    }

    /// - Parameter rows: cells of one sheet; a text of digits is a number.
    static func xlsx(sheet: String, rows: [[String]]) -> [UInt8] {
        let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        let data = rows.map { row in "<row>\(row.map(cell).joined())</row>" }.joined()
        return package(
            main: "xl/workbook.xml",
            type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
            parts: [
                (
                    "xl/workbook.xml",
                    #"<workbook xmlns="\#(main)" xmlns:r="\#(relations)"><sheets>"#
                        + #"<sheet name="\#(escaped(sheet))" sheetId="1" r:id="rId1"/></sheets></workbook>"#
                ),
                (
                    "xl/_rels/workbook.xml.rels",
                    relationships(
                        #"<Relationship Id="rId1" Type="\#(relations)/worksheet" Target="worksheets/sheet1.xml"/>"#
                    )
                ),
                (
                    "xl/worksheets/sheet1.xml",
                    #"<worksheet xmlns="\#(main)"><sheetData>\#(data)</sheetData></worksheet>"#
                ),
            ],
            overrides: [
                (
                    "/xl/worksheets/sheet1.xml",
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
                )
            ]
        )
    }

    private static func cell(_ text: String) -> String {
        Double(text) != nil ? "<c><v>\(text)</v></c>" : #"<c t="inlineStr"><is><t>\#(escaped(text))</t></is></c>"#
    }

    private static func package(
        main: String,
        type: String,
        parts: [(name: String, xml: String)],
        overrides: [(part: String, type: String)] = []
    ) -> [UInt8] {
        let types = ([("/\(main)", type)] + overrides).map {
            #"<Override PartName="\#($0.0)" ContentType="\#($0.1)"/>"#
        }.joined()
        let contentTypes =
            #"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">"#
            + #"<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>"#
            + #"<Default Extension="xml" ContentType="application/xml"/>\#(types)</Types>"#
        let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
        let start = relationships(#"<Relationship Id="rId1" Type="\#(office)" Target="\#(main)"/>"#)
        let all = [("[Content_Types].xml", contentTypes), ("_rels/.rels", start)] + parts
        return ZIPFile.encode(
            all.map {
                ZIPFile.Entry(
                    name: $0.0,
                    content: Array((#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + $0.1).utf8)
                )
            }
        )
    }

    private static func relationships(_ content: String) -> String {
        #"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">"#
            + "\(content)</Relationships>"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing(
            "\"",
            with: "&quot;"
        )
    }
}

/// Writes a zip archive whose files are stored, not compressed (PKWARE APPNOTE 6.3, method 0).
enum ZIPFile {
    struct Entry {
        /// With `/` between folders.
        let name: String
        let content: [UInt8]
    }

    static func encode(_ entries: [Entry]) -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for entry in entries {
            let place = bytes.count
            let name = Array(entry.name.utf8)
            // Version 2.0, names in UTF-8, stored, 1 January 2024 at midnight.
            let common =
                little(20, 2) + little(0x0800, 2) + little(0, 2) + little(0, 2) + little(0x5821, 2)
                + little(Int(PNG.crc32(entry.content)), 4) + little(entry.content.count, 4)
                + little(entry.content.count, 4) + little(name.count, 2)
            bytes += little(0x0403_4B50, 4) + common + little(0, 2) + name + entry.content
            directory +=
                little(0x0201_4B50, 4) + little(20, 2) + common + little(0, 2 + 2 + 2 + 2 + 4) + little(place, 4) + name
        }
        let end =
            little(0x0605_4B50, 4) + little(0, 4) + little(entries.count, 2) + little(entries.count, 2)
            + little(directory.count, 4)
        return bytes + directory + end + little(bytes.count, 4) + little(0, 2)
    }

    /// `count` bytes, the lowest first.
    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { $0 < 8 ? UInt8(value >> (8 * $0) & 0xFF) : 0 }
    }
}
