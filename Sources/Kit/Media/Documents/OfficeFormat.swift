/// Office formats of which previews can be made.
public enum OfficeFormat: String, Sendable, CaseIterable {
    case docx, xlsx, pptx, odt, ods, odp, doc, xls, ppt, rtf

    /// By the ending of a file's name, in any case.
    public init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        self.init(rawValue: fileName[fileName.index(after: dot)...].lowercased())
    }

    /// What such a file begins with: ZIP, OLE compound file, or RTF. LibreOffice would convert any text that is called
    /// .docx.
    var signature: [UInt8] {
        switch self {
        case .docx, .xlsx, .pptx, .odt, .ods, .odp: [0x50, 0x4B, 0x03, 0x04]
        case .doc, .xls, .ppt: [0xD0, 0xCF, 0x11, 0xE0]
        case .rtf: Array("{\\rtf".utf8)
        }
    }
}
