/// Office formats that LibreOffice converts.
package enum OfficeFormat: String, Sendable, CaseIterable {
    case docx, xlsx, pptx, odt, ods, odp, doc, xls, ppt, rtf

    /// Returns the format of a file's extension, in any case.
    package init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        self.init(rawValue: fileName[fileName.index(after: dot)...].lowercased())
    }

    /// The first bytes of such a file: ZIP, OLE compound file, or RTF. Without this check LibreOffice would convert any
    /// text with the name of an office file.
    var signature: [UInt8] {
        switch self {
        case .docx, .xlsx, .pptx, .odt, .ods, .odp: [0x50, 0x4B, 0x03, 0x04]
        case .doc, .xls, .ppt: [0xD0, 0xCF, 0x11, 0xE0]
        case .rtf: Array("{\\rtf".utf8)
        }
    }
}
