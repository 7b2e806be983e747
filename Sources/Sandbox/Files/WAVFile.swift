/// Writes a tone as RIFF WAVE: 8 000 samples a second, one channel, 8 bits.
enum WAVFile {
    /// - Parameters:
    ///   - period: of the tone, in samples.
    ///   - count: samples.
    static func encode(period: Int, count: Int) -> [UInt8] {
        let samples = (0..<count).map { UInt8($0 / max(1, period / 2) % 2 == 0 ? 96 : 160) }
        let format = little(1, 2) + little(1, 2) + little(8_000, 4) + little(8_000, 4) + little(1, 2) + little(8, 2)
        let chunks =
            Array("WAVEfmt ".utf8) + little(format.count, 4) + format + Array("data".utf8) + little(count, 4) + samples
        return Array("RIFF".utf8) + little(chunks.count, 4) + chunks
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) }
    }
}
