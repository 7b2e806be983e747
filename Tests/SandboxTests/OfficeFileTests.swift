import Testing

@testable import Sandbox

@Suite struct OfficeFileTests {
    @Test("office documents have the parts that they name, with text that is escaped")
    func office() {
        let docx = String(decoding: OfficeFile.docx(paragraphs: ["Привет & <пока>"]), as: UTF8.self)
        #expect(
            docx.contains("[Content_Types].xml") && docx.contains("word/document.xml")
                && docx.contains("Привет &amp; &lt;пока&gt;")
        )
        let xlsx = String(decoding: OfficeFile.xlsx(sheet: "Лист", rows: [["а", "1.5"]]), as: UTF8.self)
        #expect(
            xlsx.contains("xl/worksheets/sheet1.xml") && xlsx.contains("<c><v>1.5</v></c>")
                && xlsx.contains("<is><t>а</t></is>")
        )
    }
}
