import CQPDF
import Foundation
import MediaFormats

/// A document of libqpdf. Streams are not decompressed, neither here nor when the document is written. The exceptions
/// are ``DocumentCheck`` and the metadata of a JPEG that is compressed once more.
///
/// The library's error is checked after each call, because otherwise the library continues with fallback values.
final class PDFFile {
    typealias Object = qpdf_oh

    private(set) var handle: qpdf_data?

    /// Creates a document without pages.
    init() throws {
        handle = qpdf_init()
        qpdf_silence_errors(handle)
        qpdf_set_suppress_warnings(handle, QPDF_BOOL(1))
        qpdf_empty_pdf(handle)
        try check()
    }

    /// Opens a document.
    ///
    /// - Parameter password: Nil for the empty one.
    /// - Throws: ``JobError`` `encrypted`, `damaged`, `tooManyPages`.
    init(reading path: String, maximumPages: Int, password: String? = nil) throws {
        handle = qpdf_init()
        qpdf_silence_errors(handle)
        qpdf_set_suppress_warnings(handle, QPDF_BOOL(1))
        qpdf_read(handle, path, password)
        try check()
        try boundPageTree(maximumPages)
        let count = try pageCount()
        guard count <= maximumPages else { throw JobError(.tooManyPages(limit: maximumPages)) }
        guard count > 0 else { throw JobError.damaged("the document has no pages") }
        qpdf_push_inherited_attributes_to_page(handle)
        try check()
    }

    /// Checks the size of the page tree before the library reads the tree. The library needs kilobytes for each listed
    /// page, even if the same page is listed a million times.
    ///
    /// Only the number of pages is checked, and that each of them exists; the library refuses a malformed tree.
    private func boundPageTree(_ maximumPages: Int) throws {
        var seen: Set<Int32> = []
        var leaves = 0
        var open = [try rootOfPages()]
        while let node = open.popLast() {
            defer { release(node) }
            let kids = qpdf_oh_is_dictionary(handle, node) != 0 ? qpdf_oh_get_key(handle, node, "/Kids") : 0
            guard kids != 0, qpdf_oh_is_array(handle, kids) != 0 else {
                guard qpdf_oh_is_dictionary(handle, node) != 0 else { throw JobError.damaged("a page is missing") }
                leaves += 1
                continue
            }
            defer { release(kids) }
            // A node that is listed twice causes a loop, or doubles the pages at each level.
            let number = qpdf_oh_get_object_id(handle, node)
            guard number == 0 || seen.insert(number).inserted else { continue }
            let count = qpdf_oh_get_array_n_items(handle, kids)
            guard leaves + open.count + Int(count) <= maximumPages + seen.count else {
                throw JobError(.tooManyPages(limit: maximumPages))
            }
            for index in 0..<count { open.append(qpdf_oh_get_array_item(handle, kids, index)) }
            try check()
        }
    }

    /// Returns the root of the page tree.
    ///
    /// - Throws: ``JobError``, `damaged` without a catalog.
    private func rootOfPages() throws -> qpdf_oh {
        let catalog = qpdf_get_root(handle)
        try check()
        guard qpdf_oh_is_dictionary(handle, catalog) != 0 else { throw JobError.damaged("the PDF has no catalog") }
        let root = qpdf_oh_get_key(handle, catalog, "/Pages")
        try check()
        return root
    }

    deinit { qpdf_cleanup(&handle) }

    /// Throws the error of the library, if there is one.
    func check() throws {
        guard qpdf_has_error(handle) != 0 else { return }
        let error = qpdf_get_error(handle)
        let detail = qpdf_get_error_message_detail(handle, error).map { String(cString: $0) } ?? ""
        if detail.contains("bad_alloc") { throw JobError.outOfMemory() }
        switch qpdf_get_error_code(handle, error) {
        case qpdf_e_password: throw JobError(.encrypted)
        case qpdf_e_damaged_pdf: throw JobError.damaged("the PDF is broken: \(Self.plain(detail))")
        case qpdf_e_pages: throw JobError.damaged("the list of its pages is broken: \(Self.plain(detail))")
        // For some malformed files the library reports internal errors.
        case qpdf_e_object, qpdf_e_internal: throw JobError.damaged("an object of the PDF is not what it should be")
        case qpdf_e_unsupported: throw JobError.damaged("the PDF uses something unknown: \(Self.plain(detail))")
        case qpdf_e_system where detail.hasPrefix("unable to access stream data"):
            throw JobError.damaged("the data of a part of the PDF cannot be read")
        case qpdf_e_system: throw JobError.machine(Self.plain(detail))
        default: throw JobError(.other(Self.plain(detail)))
        }
    }

    /// Returns a message of the library in printable ASCII, because it may contain bytes of the file.
    static func plain(_ text: String) -> String {
        String(text.unicodeScalars.prefix(120).map { $0.value >= 0x20 && $0.value < 0x7F ? Character($0) : " " })
    }

    func pageCount() throws -> Int {
        let count = qpdf_get_num_pages(handle)
        try check()
        return Int(count)
    }

    /// Returns the page at a position, from 0.
    func page(_ index: Int) throws -> Object {
        let page = qpdf_get_page_n(handle, index)
        try check()
        return page
    }

    /// Appends a page, with everything to which it refers in the other document except other pages.
    func add(_ page: Object, of other: PDFFile) throws {
        qpdf_add_page(handle, other.handle, page, QPDF_BOOL(0))
        try other.check()
        try check()
    }

    func release(_ object: Object) { qpdf_oh_release(handle, object) }
}

extension PDFFile {
    /// Parses an object in PDF notation.
    func object(_ notation: String) throws -> Object {
        let object = qpdf_oh_parse(handle, notation)
        try check()
        return object
    }

    /// Returns the title in the document's information dictionary; nil if there is none, or it is empty.
    func title() -> String? {
        let information = qpdf_oh_get_key(handle, qpdf_get_trailer(handle), "/Info")
        guard qpdf_oh_is_dictionary(handle, information) != 0 else { return nil }
        let title = qpdf_oh_get_key(handle, information, "/Title")
        guard qpdf_oh_is_string(handle, title) != 0, let text = qpdf_oh_get_utf8_value(handle, title) else {
            return nil
        }
        return Self.shownTitle(String(cString: text))
    }

    /// Returns a title in one line, of at most 1,000 characters; nil if nothing is left of it.
    static func shownTitle(_ text: String) -> String? {
        // The title of an imported document may have any length and any characters.
        let clean = text.unicodeScalars.prefix(1000).filter {
            $0.properties.generalCategory != .control
        }
        let trimmed = String(String.UnicodeScalarView(clean)).trimmingCharacters(in: .whitespacesAndNewlines)
        return trimmed.isEmpty ? nil : trimmed
    }

    /// Sets the title, in UTF-16 if necessary; the library's own setter damages characters that are not ASCII.
    func setTitle(_ title: String?) throws {
        let information = qpdf_oh_new_dictionary(handle)
        if let title, !title.isEmpty {
            qpdf_oh_replace_key(handle, information, "/Title", qpdf_oh_new_unicode_string(handle, title))
        }
        qpdf_oh_replace_key(handle, information, "/Producer", qpdf_oh_new_unicode_string(handle, "Larder"))
        qpdf_oh_replace_key(handle, qpdf_get_trailer(handle), "/Info", qpdf_make_indirect_object(handle, information))
        try check()
    }

    func keys(of dictionary: Object) -> [PDFName] {
        qpdf_oh_begin_dict_key_iter(handle, dictionary)
        var keys: [PDFName] = []
        while qpdf_oh_dict_more_keys(handle) != 0, let key = qpdf_oh_dict_next_key(handle) { keys.append(PDFName(key)) }
        return keys
    }

    /// Calls the body with the value at a key of a dictionary, which may be null.
    func with<Result>(_ key: PDFName, of dictionary: Object, _ body: (Object) throws -> Result) rethrows -> Result {
        let value = qpdf_oh_get_key(handle, dictionary, key.bytes)
        defer { release(value) }
        return try body(value)
    }

    /// Returns an attribute of a field, which may be inherited from a field above it (ISO 32000-1 12.7.3.1); null if
    /// there is none.
    func inherited(_ key: PDFName, of field: Object) -> Object {
        var field = field
        for _ in 0..<32 where qpdf_oh_is_dictionary(handle, field) != 0 {
            if qpdf_oh_has_key(handle, field, key.bytes) != 0 { return qpdf_oh_get_key(handle, field, key.bytes) }
            field = qpdf_oh_get_key(handle, field, "/Parent")
        }
        return qpdf_oh_new_null(handle)
    }

    /// Calls the body with each item of an array. Does nothing for another object.
    func forEachItem(of array: Object, _ body: (Object) throws -> Void) rethrows {
        guard qpdf_oh_is_array(handle, array) != 0 else { return }
        for index in 0..<qpdf_oh_get_array_n_items(handle, array) {
            let item = qpdf_oh_get_array_item(handle, array, index)
            defer { release(item) }
            try body(item)
        }
    }

    /// Returns the name at a key of a dictionary; nil if there is none.
    func name(_ key: PDFName, of dictionary: Object) -> PDFName? {
        with(key, of: dictionary) { name($0) }
    }

    /// Returns an object that is a name; nil for others.
    func name(_ object: Object) -> PDFName? {
        qpdf_oh_is_name(handle, object) != 0 ? qpdf_oh_get_name(handle, object).map { PDFName($0) } : nil
    }

    /// Whether an object may refer to others.
    func isContainer(_ object: Object) -> Bool {
        qpdf_oh_is_dictionary(handle, object) != 0 || qpdf_oh_is_stream(handle, object) != 0
            || qpdf_oh_is_array(handle, object) != 0
    }

    /// Whether an object is a reference to an object that does not exist, or that libqpdf cannot read.
    func isLost(_ object: Object) -> Bool {
        qpdf_oh_get_object_id(handle, object) != 0 && qpdf_oh_is_null(handle, object) != 0
    }

    /// Returns the data of a stream; nil if libqpdf cannot undo all of its filters although it should.
    func data(of stream: Object, decodeLevel: qpdf_stream_decode_level_e) throws -> Data? {
        var isFiltered = QPDF_BOOL(0)
        var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
        _ = qpdf_oh_get_stream_data(handle, stream, decodeLevel, &isFiltered, &bytes, &count)
        defer { free(bytes) }
        try check()
        guard decodeLevel == qpdf_dl_none || isFiltered != 0, let bytes else { return nil }
        return Data(bytes: bytes, count: count)
    }

    /// Returns the numbers of an array; nil if it is not an array of this many numbers.
    func numbers(_ array: Object, count: Int32) -> [Double]? {
        guard qpdf_oh_is_array(handle, array) != 0, qpdf_oh_get_array_n_items(handle, array) == count else {
            return nil
        }
        var numbers: [Double] = []
        for index in 0..<count {
            let item = qpdf_oh_get_array_item(handle, array, index)
            guard qpdf_oh_is_number(handle, item) != 0 else { return nil }
            numbers.append(qpdf_oh_get_numeric_value(handle, item))
        }
        return numbers
    }

    func array(_ items: [Object]) throws -> Object {
        let array = qpdf_oh_new_array(handle)
        for item in items { qpdf_oh_append_item(handle, array, item) }
        try check()
        return array
    }
}

/// A name with its slash (ISO 32000-1 7.3.5): any bytes but zero, in any encoding.
struct PDFName: Hashable, ExpressibleByStringLiteral {
    /// The bytes for C functions, ended by a zero byte.
    let bytes: [CChar]

    init(_ bytes: UnsafePointer<CChar>) {
        self.bytes = Array(UnsafeBufferPointer(start: bytes, count: strlen(bytes) + 1))
    }

    init(_ text: String) { bytes = Array(text.utf8CString) }

    init(stringLiteral text: String) { self.init(text) }

    /// The name as text; bytes that are not UTF-8 are replaced.
    var text: String { String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }

    /// The name with its number signs escaped; nil if it has none.
    var escaped: PDFName? {
        let sign = CChar(bitPattern: UInt8(ascii: "#"))
        guard bytes.contains(sign) else { return nil }
        return PDFName(bytes.flatMap { $0 == sign ? "#23".utf8.map { CChar(bitPattern: $0) } : [$0] })
    }
}
