import CQPDF
import MediaFormats

/// A document of libqpdf. No stream of a document is decompressed, neither here nor when it is written; only
/// ``DocumentCheck`` does that, and what removes metadata from a JPEG that is compressed once more.
///
/// The error of the library is checked after each call; without that it continues with fallback values.
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

    /// Opens a document with the empty password.
    ///
    /// - Throws: ``JobError`` `encrypted`, `damaged`, `tooManyPages`.
    init(reading path: String, maximumPages: Int) throws {
        handle = qpdf_init()
        qpdf_silence_errors(handle)
        qpdf_set_suppress_warnings(handle, QPDF_BOOL(1))
        qpdf_read(handle, path, nil)
        try check()
        try boundPageTree(maximumPages)
        let count = try pageCount()
        guard count <= maximumPages else { throw JobError(.tooManyPages(limit: maximumPages)) }
        guard count > 0 else { throw JobError.damaged("the document has no pages") }
        qpdf_push_inherited_attributes_to_page(handle)
        try check()
    }

    /// Checks the size of the page tree before the library reads it, which takes kilobytes for each listed page, even
    /// if the same page is listed a million times.
    ///
    /// Only the number of pages is checked, and that there is something for each; the library refuses a malformed tree.
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
            // A node that is listed twice makes a loop, or doubles the pages at each level.
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
    ///
    /// - Throws: ``JobError``.
    func check() throws {
        guard qpdf_has_error(handle) != 0 else { return }
        let error = qpdf_get_error(handle)
        let detail = qpdf_get_error_message_detail(handle, error).map { String(cString: $0) } ?? ""
        if detail.contains("bad_alloc") { throw JobError.outOfMemory() }
        switch qpdf_get_error_code(handle, error) {
        case qpdf_e_password: throw JobError(.encrypted)
        case qpdf_e_damaged_pdf: throw JobError.damaged("the PDF is broken: \(Self.plain(detail))")
        case qpdf_e_pages: throw JobError.damaged("the list of its pages is broken: \(Self.plain(detail))")
        // Files that the library does not expect make it report errors of its own.
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

    /// Appends a page, with everything that it refers to in the other document but its other pages.
    func add(_ page: Object, of other: PDFFile) throws {
        qpdf_add_page(handle, other.handle, page, QPDF_BOOL(0))
        try other.check()
        try check()
    }

    func release(_ object: Object) { qpdf_oh_release(handle, object) }
}
