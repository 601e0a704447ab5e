-- SKUs and barcodes are compared with folded case and in one form of their characters. The key has that form where the one that the
-- primary key has is another, so few rows have it. Rows of nodes of the release before get none, and are found as they are written.
ALTER TABLE skus ADD COLUMN IF NOT EXISTS fold_key TEXT;

ALTER TABLE barcodes ADD COLUMN IF NOT EXISTS fold_key TEXT;

CREATE INDEX IF NOT EXISTS skus_fold_idx ON skus (company_id, fold_key) WHERE fold_key IS NOT NULL;

CREATE INDEX IF NOT EXISTS barcodes_fold_idx ON barcodes (company_id, fold_key) WHERE fold_key IS NOT NULL;

-- Older rows: full-width characters, ß and ς are those that are in use. A row with others gets its key when its item is changed.
-- batches
UPDATE skus SET fold_key = replace(replace(lower(translate(sku_key, '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~')), 'ß', 'ss'), 'ς', 'σ')
WHERE fold_key IS NULL AND sku_key <> replace(replace(lower(translate(sku_key, '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~')), 'ß', 'ss'), 'ς', 'σ');

-- batches
UPDATE barcodes SET fold_key = replace(replace(lower(translate(barcode, '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~')), 'ß', 'ss'), 'ς', 'σ')
WHERE fold_key IS NULL AND barcode <> replace(replace(lower(translate(barcode, '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～', '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~')), 'ß', 'ss'), 'ς', 'σ');
