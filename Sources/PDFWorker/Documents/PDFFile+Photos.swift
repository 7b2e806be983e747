import CQPDF
import Foundation

extension PDFFile {
    /// Removes the metadata from the data of a picture, if they are a JPEG: a PDF of photos contains the files of a
    /// camera, with the position of the photographer. Other data stay as they are.
    ///
    /// - Parameters:
    ///   - picture: a stream.
    ///   - dictionary: that of the stream.
    /// - Throws: ``JobError``.
    func removeMetadata(ofPicture picture: Object, _ dictionary: Object) throws {
        guard name("/Subtype", of: dictionary) == "/Image" else { return }
        let filters = list("/Filter", of: dictionary)
        let parameters = list("/DecodeParms", of: dictionary)
        defer { for object in filters + parameters { release(object) } }
        guard let last = filters.last, isName(last, ["/DCTDecode", "/DCT"]),
            let photo = try data(of: picture, through: Array(filters.dropLast()), parameters)
        else { return }
        let clean = JPEGMetadata.removed(from: photo)
        // An added marker for the end is no reason to write the data again.
        guard clean.count < photo.count else { return }
        let parameter = parameters.count == filters.count ? parameters.last : nil
        try replaceData(of: picture, by: clean, filter: last, parameters: parameter)
    }

    /// Returns the data of a stream after some of its filters; nil if libqpdf cannot undo them.
    private func data(of stream: Object, through filters: [Object], _ parameters: [Object]) throws -> Data? {
        guard !filters.isEmpty else { return try data(of: stream, decodeLevel: qpdf_dl_none) }
        guard let raw = try data(of: stream, decodeLevel: qpdf_dl_none) else { return nil }
        let part = qpdf_oh_new_stream(handle)
        defer { release(part) }
        let filter = try array(filters)
        let own = try array(Array(parameters.prefix(filters.count)))
        defer { for object in [filter, own] { release(object) } }
        let hasParameters = parameters.count > filters.count
        try replaceData(of: part, by: raw, filter: filter, parameters: hasParameters ? own : nil)
        return try data(of: part, decodeLevel: qpdf_dl_generalized)
    }

    func replaceData(of stream: Object, by data: Data, filter: Object, parameters: Object?) throws {
        let none = qpdf_oh_new_null(handle)
        defer { release(none) }
        data.withUnsafeBytes { buffer in
            qpdf_oh_replace_stream_data(
                handle,
                stream,
                buffer.bindMemory(to: UInt8.self).baseAddress,
                buffer.count,
                filter,
                parameters ?? none
            )
        }
        try check()
    }

    /// Returns the items of an array at a key of a dictionary, or the only value there, which may be null.
    private func list(_ key: String, of dictionary: Object) -> [Object] {
        let value = qpdf_oh_get_key(handle, dictionary, key)
        guard qpdf_oh_is_array(handle, value) != 0 else { return [value] }
        defer { release(value) }
        return (0..<qpdf_oh_get_array_n_items(handle, value)).map { qpdf_oh_get_array_item(handle, value, $0) }
    }

    private func isName(_ object: Object, _ names: [String]) -> Bool {
        guard qpdf_oh_is_name(handle, object) != 0, let name = qpdf_oh_get_name(handle, object) else { return false }
        return names.contains(String(cString: name))
    }
}
